// A note in place of components that cannot be loaded. Without imports: the head of pages has it.

/**
 * Say in place of a component that its script is not available, with a button that reloads the page.
 * @param {any} place an element or a shadow root
 */
export function sayUnavailable(place) {
  const note = document.createElement("p");
  note.role = "alert";
  note.className = "unavailable";
  // In a shadow root, no other style applies.
  note.style = "margin:0;padding:1em;border:1px solid;border-radius:.5em;font-family:var(--st-font)";
  const style = "font:inherit;color:inherit;background:0 0;border:1px solid;border-radius:.5em";
  note.innerHTML = `This part could not be loaded: the connection was lost, or the server was replaced.
    <button style="${style}">Reload the page</button>`;
  note.lastChild.onclick = () => location.reload();
  place.querySelector(".unavailable")?.remove();
  place.append(note);
}
