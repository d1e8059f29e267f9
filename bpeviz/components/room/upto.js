// Cuts a room's timeline after the leader's furthest step. A follower has it whole, and draws no later decision.

const NOT_PLAYED = "The leader has not played a step.";

/**
 * Return a content with the steps of its player up to one of them; a score has none.
 * @param {any} content
 * @param {number} step
 */
export function upto(content, step) {
  const { player, races } = content;
  if (!player) return content;
  const ends = player.views.map(({ ownSteps }) => (ownSteps ? Math.max(...ownSteps.slice(0, step + 1)) : step));
  return {
    ...content,
    player: { ...player, last: step, initialStep: 0, changingSteps: before(player.changingSteps, step), views: player.views.map((view, i) => cut(view, ends[i])) },
    races: races?.map((race, i) => ({ ...race, first: race.first.slice(0, ends[i]), atRest: null })) ?? null,
  };
}

const before = (changingSteps, last) => changingSteps?.filter((step) => step <= last) ?? null;

function cut(view, last) {
  const { steps, mergedAt, changes, tokenCounts, changingSteps, emptyMessage } = view;
  return {
    ...view,
    last,
    emptyMessage: view.last ? NOT_PLAYED : emptyMessage,
    steps: Object.fromEntries(Object.entries(steps).map(([name, column]) => [name, Array.isArray(column) ? column.slice(0, last) : column])),
    mergedAt: mergedAt?.map((at) => (at < last ? at : -1)) ?? null,
    changes: changes && changesBefore(changes, last),
    tokenCounts: tokenCounts.slice(0, last + 1),
    changingSteps: before(changingSteps, last),
  };
}

function changesBefore({ counts, steps, ids }, last) {
  const isBefore = steps.map((step) => step < last);
  let at = 0;
  return {
    counts: counts.map((count) => isBefore.slice(at, (at += count)).filter(Boolean).length),
    steps: steps.filter((_, i) => isBefore[i]),
    ids: ids.filter((_, i) => isBefore[i]),
  };
}
