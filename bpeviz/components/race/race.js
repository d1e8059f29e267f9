// Passes the candidates of the steps to the player, which draws them. They arrive after the player,
// as a component without markup, so that the player's payload stays small.

import { component } from "../shared/dom.js";
import { RACE, RACE_REQUESTED, RACE_WATCHED, emit, subscribe } from "../shared/events.js";

class Race {
  constructor(root, signal) {
    subscribe(RACE_REQUESTED, () => this.data && emit(RACE, this.data.races), signal);
    subscribe(RACE_WATCHED, () => this.#watch(), signal);
  }

  #watch() {
    const timeline = this.data?.races[0].timelineId;
    if (!timeline || timeline === this.watched) return;
    this.watched = timeline;
    this.on("watched", timeline);
  }

  /**
   * @param {{races: import("../player/bars.js").RacePayload[]} | null} data null while the player draws a text
   * @param {Function} on receives "watched" with the timeline, once for each
   */
  update(data, on) {
    this.data = data;
    this.on = on;
    if (data) emit(RACE, data.races);
  }
}

export const mount = component(Race);
