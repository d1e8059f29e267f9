// Which step each part of the player shows at a moment of an event: all the same one, but the figures of
// the text follow its tokens, and the number of the step comes last.

const FIGURES = 5; // beats, after which the new color has spread
const NUMBER = 6;

/**
 * @typedef {object} Film an event of playback
 * @property {number} from the step before
 * @property {number} to
 * @property {number} beat milliseconds, or 0 where everything changes at once
 */

/**
 * Return the step that each part shows.
 * @param {number} time milliseconds since the event began
 * @param {Film} film
 */
export function shown(time, { from, to, beat }) {
  const after = (beats) => (time < beats * beat ? from : to);
  const figures = after(FIGURES);
  return { step: to, sentence: to, letters: to, race: to, figure: figures, marker: figures, number: after(NUMBER) };
}
