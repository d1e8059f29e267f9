"""The body of each page, drawn below its inputs."""
