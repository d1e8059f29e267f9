// Passes the candidates of the steps to the player, which draws them. They arrive after the player,
// as a component without markup, so that the player's payload stays small.

import { component } from "../shared/dom.js";
import { RACE, RACE_REQUESTED, emit, subscribe } from "../shared/events.js";

class Race {
  constructor(root, signal) {
    subscribe(RACE_REQUESTED, () => this.data && emit(RACE, this.data.races), signal);
  }

  /** @param {{races: import("../player/bars.js").RacePayload[]} | null} data null while the player draws a text */
  update(data) {
    this.data = data;
    if (data) emit(RACE, data.races);
  }
}

export const mount = component(Race);
