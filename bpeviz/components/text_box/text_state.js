// The text of a box and the sample chosen, as the browser and the server agree on them.
//
// The browser sends every change of the user with a number that grows, and the server answers with
// the number of the last change that it used. The server's own changes (a sample's text, a file, a
// link) have versions. So neither overwrites what is newer: a change that has no answer yet stays,
// and is sent again where the server may not have received it.

/**
 * @typedef {object} TextBoxPayload
 * @property {string} name the name of the box in the session
 * @property {string} session the session: another one has forgotten this page's text
 * @property {number} version the number of the server's last change
 * @property {number} answered the number of the last change of the user that the server used
 * @property {string} sample the key of the sample chosen
 * @property {string | null} text null if it is that of the answered change, which the browser has
 * @property {string | null} file the name and length of the file, or of the rows of a table, that is used instead of the box
 * @property {boolean} hasRows whether it is rows
 * @property {string | null} count the number of characters and tokens in words, "" while unknown, null without a line for it
 * @property {number} limit the most characters that the server uses
 * @property {string} address the address that takes long texts
 * @property {number} longest the most characters that a change contains; it names longer texts
 * @property {string} own the key of the user's own text among the samples
 * @property {string} label
 * @property {string} boxLabel
 * @property {string} placeholder
 * @property {string} help
 * @property {string} fileHelp which files can be opened
 * @property {string} uploader the key of Streamlit's input of files
 * @property {string} ownTitle its title
 * @property {[string, string][]} others key and title of the texts beside samples; if any, the box is for one's own text only
 * @property {Object<string, string>} replaced the keys of texts that the page lacks, and those in their place
 * @property {[string, [string, string][]][]} samples title of each group, and key and title of its samples
 */

/**
 * A change of the user. With null as its text, it asks the server for its text; with `joins`, to join
 * the rows of the table. A new text (`isNewText`) plays.
 * @typedef {{number: number, sample: string, text: string | null, attempt?: number, joins?: boolean, isNew?: boolean}} Change
 */

export class TextState {
  session = "";
  version = -1;
  number = 0;
  sample = "";
  text = "";
  own = /** @type {string | null} */ (null); // what was typed last; null while only the server may know it
  file = null;

  /**
   * Use what the server sent, unless the user's last change is newer.
   * @param {TextBoxPayload} data
   * @param {boolean} isMounted whether this box showed earlier data of the server
   * @returns {Change | null} a change to send (again)
   */
  receive({ session, version, answered, sample, text, file }, isMounted) {
    if (this.session && this.session !== session) {
      // The server was restarted, or the session had expired: the browser still has the text.
      Object.assign(this, { session, version, file });
      return sample !== this.sample || text !== this.text ? this.change(this.sample, this.text) : null;
    }
    Object.assign(this, { session, file });
    const isAnswered = this.number <= answered;
    if (isAnswered && version !== this.version) {
      if (text === null && this.number < answered) {
        return { ...this.change(sample, this.text), text: null };
      }
      Object.assign(this, { version, sample, text: text ?? this.text });
    }
    return isAnswered || isMounted ? null : { number: this.number, sample: this.sample, text: this.text };
  }

  /**
   * Note a change of the user.
   * @param {string} sample
   * @param {string} text
   * @returns {Change}
   */
  change(sample, text) {
    this.number = Math.max(Date.now(), this.number + 1);
    Object.assign(this, { sample, text });
    return { number: this.number, sample, text };
  }
}

/**
 * Return whether a text replaces the one before: less than half of that is left, or most of the text was
 * pasted or dropped.
 * @param {string} before
 * @param {string} text
 * @param {boolean} [isPasted] whether something was pasted or dropped meanwhile
 */
export function isNewText(before, text, isPasted = false) {
  const shorter = Math.min(before.length, text.length);
  let [first, last] = [0, 0];
  while (first < shorter && before[first] === text[first]) first++;
  while (first + last < shorter && before.at(-1 - last) === text.at(-1 - last)) last++;
  const left = 2 * (first + last);
  return text !== before && (!before || left < before.length || (isPasted && left < text.length));
}

/**
 * Return the number of characters of a text.
 * @param {string} text
 */
export const characterCount = (text) => text.replace(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, "x").length;

/**
 * Return the first characters of a text.
 * @param {string} text
 * @param {number} count the most characters to return
 */
export const firstCharacters = (text, count) => (text.length <= count ? text : text.match(new RegExp(`^[^]{0,${count}}`, "u"))[0]);
