// Loads the scripts of components by their addresses. Without imports: it is part of each message.

/**
 * Say in place of a component that its script is not available, with a button that reloads the page.
 * @param {any} place an element or a shadow root
 */
export function sayUnavailable(place) {
  const button = document.createElement("button");
  button.textContent = "Reload the page";
  button.onclick = () => location.reload();
  const note = document.createElement("p");
  note.role = "alert";
  note.className = "unavailable";
  note.append("This part could not be loaded: the connection was lost, or the server was replaced. ", button);
  place.querySelector(".unavailable")?.remove();
  place.append(note);
}
