// Which step the figures of the player and its number show at a moment of an event: all else changes at once,
// figures follow the tokens of the text, and the number comes last.

const FIGURES = 5; // beats, after which the new color has spread
const NUMBER = 6;

/**
 * @typedef {object} Film an event of playback
 * @property {number} from the step before
 * @property {number} to
 * @property {number} beat milliseconds, or 0 where everything changes at once
 */

/**
 * Return the step of the figures, with the marker of the track, and that of the number.
 * @param {number} time milliseconds since the event began
 * @param {Film} film
 */
export function shown(time, { from, to, beat }) {
  const after = (beats) => (time < beats * beat ? from : to);
  return { figure: after(FIGURES), number: after(NUMBER) };
}
