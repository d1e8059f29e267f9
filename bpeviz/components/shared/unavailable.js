// A note in place of components that cannot be loaded. Without imports: the head of pages has it.

/**
 * Say in place of a component that its script is not available, with a button that reloads the page.
 * @param {any} place an element or a shadow root
 */
export function sayUnavailable(place) {
  const note = document.createElement("p");
  const button = document.createElement("button");
  note.role = "alert";
  note.className = "unavailable";
  // In a shadow root, no other style applies.
  note.style = "margin:0;padding:1em;border:1px solid;border-radius:.5em;font-family:var(--st-font)";
  button.style = "font:inherit;color:inherit;background:0 0;border:1px solid;border-radius:.5em";
  button.textContent = "Reload the page";
  button.onclick = () => location.reload();
  note.append("This part could not be loaded: the connection was lost, or the server was replaced. ", button);
  place.querySelector(".unavailable")?.remove();
  place.append(note);
}
