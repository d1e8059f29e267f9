// Puts a player's payload together from the parts that a room sends (`bpeviz/room/contents.py`).

/**
 * Apply changed boundaries to a view: `[atom, step]`, or `[atom, step, id]` where boundaries may return.
 * They are later than those that the view has.
 * @param {any} view
 * @param {number[][]} changed
 */
function applyChanges(view, changed) {
  if (!view.changes) {
    for (const [atom, step] of changed) view.mergedAt[atom] = step;
    return;
  }
  const { counts, steps, ids } = view.changes;
  let k = 0;
  const atoms = counts.map((count) => Array.from({ length: count }, () => [steps[k], ids[k++]]));
  for (const [atom, step, id] of changed) atoms[atom].push([step, id]);
  view.changes = {
    counts: atoms.map((entries) => entries.length),
    steps: atoms.flatMap((entries) => entries.map(([step]) => step)),
    ids: atoms.flatMap((entries) => entries.map(([, id]) => id)),
  };
}

/**
 * Return the payload of the beginning, which `extend` continues. The leader's, and a score, have everything.
 * @param {any} content
 */
export function begin(content) {
  for (const view of content.player?.views ?? []) if (view.changed) applyChanges(view, view.changed);
  return content;
}

/**
 * Add further steps to a content in place; return its new payload of the player.
 * @param {any} content
 * @param {any} more
 */
export function extend(content, more) {
  more.views.forEach((added, i) => {
    const view = content.player.views[i];
    for (const [name, column] of Object.entries(added.steps))
      if (Array.isArray(column)) view.steps[name].push(...column);
    Object.assign(view.steps.notes, added.steps.notes);
    Object.assign(view.tokenStyles, added.tokenStyles);
    view.tokenCounts.push(...added.tokenCounts);
    view.changingSteps?.push(...added.changingSteps);
    applyChanges(view, added.changed);
    view.last = more.last;
  });
  more.races.forEach((added, i) => {
    content.races[i].first.push(...added.first);
    Object.assign(content.races[i].styles, added.styles);
  });
  content.player.changingSteps?.push(...more.changingSteps);
  content.player = { ...content.player, last: more.last };
  return content.player;
}
