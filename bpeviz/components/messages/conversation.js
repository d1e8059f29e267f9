// A conversation in JSON, as the command `encode --chat` reads it.

/**
 * @typedef {{role: string, content?: any}} Message possibly with further values, such as "tool_calls"
 * @typedef {object} Conversation
 * @property {Message[]} messages
 * @property {object | null} around the object around the messages, with tools and variables of the template
 */

/**
 * Return the conversation in a text, or null if it has none.
 * @param {string} text a list of messages in JSON, or an object that has one
 * @returns {Conversation | null}
 */
export function conversationIn(text) {
  let given = null;
  try {
    given = JSON.parse(text);
  } catch {
    return null;
  }
  const messages = Array.isArray(given) ? given : given?.messages;
  if (!Array.isArray(messages) || !messages.length || !messages.every((message) => typeof message?.role === "string")) return null;
  return { messages, around: Array.isArray(given) ? null : given };
}

/** Return the conversation in a text, or a conversation of the text as a user's message. */
export const conversationOf = (text) => conversationIn(text) ?? { messages: [{ role: "user", content: text }], around: null };

/**
 * Return a conversation in JSON.
 * @param {Conversation} conversation
 */
export const inJson = ({ messages, around }) => JSON.stringify(around ? { ...around, messages } : messages);

/** Return a copy of messages in which the one at an index has moved by some places. */
export function moved(messages, index, by) {
  const rest = messages.toSpliced(index, 1);
  rest.splice(Math.max(0, index + by), 0, messages[index]);
  return rest;
}

/** Return a message to follow another one: user and assistant take turns. */
export const following = (message) => ({ role: message?.role === "user" ? "assistant" : "user", content: "" });

/** Return the roles to choose from: the usual ones, and those of the messages. */
export const rolesOf = (messages) => [...new Set(["system", "user", "assistant", ...messages.map(({ role }) => role)])];

/** Return the content of a message as it can be edited, or null for lists and other content than text. */
export const textOf = ({ content, ...others }) =>
  typeof content === "string" ? content : content == null && Object.keys(others).length < 2 ? "" : null;
