// What Python sends to a component (`bpeviz.ui.components`).

const utf8 = new TextDecoder();

/**
 * Return the payload of a component.
 * @param {Uint8Array} bytes JSON
 */
export const parsePayload = (bytes) => JSON.parse(utf8.decode(bytes));
