// The clipboard.

/**
 * Copy a text that is still on its way; browsers allow it for some seconds after a press.
 * @param {Promise<string>} promise
 * @param {any} root of the component
 * @returns {Promise<boolean>} whether it was copied
 */
export async function copyText(promise, root) {
  try {
    const blob = promise.then((text) => new Blob([text], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    return true;
  } catch {
    // Without https, such as in a classroom, the clipboard API is not available; this
    // older way works there.
    // Outside an open dialog, nothing can be selected.
    const field = (root.querySelector("dialog[open]") ?? document.body).appendChild(document.createElement("textarea"));
    field.value = await promise;
    field.style.cssText = "position: fixed; opacity: 0";
    const focused = root.activeElement ?? document.activeElement;
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    focused?.focus?.({ preventScroll: true });
    return isCopied;
  }
}
