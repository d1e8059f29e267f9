// The layout of a token's merge tree.

/**
 * @typedef {object} TreeNode
 * @property {number} id
 * @property {number} row the root's row is 1
 * @property {number} step the merge that created the token, -1 for an atom
 * @property {number} from first grid column, from 1
 * @property {number} to the grid column after the last
 * @property {TreeNode[]} [parents]
 */

/**
 * Return the nodes of a merge tree, each before the two it was merged from, left before right.
 *
 * A tree of more than `maxLeaves` leaves is cut: the latest merges are split first, so that its
 * leaves are the token at an earlier step.
 * @param {number} id
 * @param {(id: number) => number[] | null} parentsOf
 * @param {(id: number) => number} stepOf
 * @param {number} maxLeaves
 * @returns {{nodes: TreeNode[], leaves: TreeNode[]}}
 */
export function mergeTree(id, parentsOf, stepOf, maxLeaves) {
  const node = (of, row) => ({ id: of, row, step: parentsOf(of) ? stepOf(of) : -1, from: 0, to: 0 });
  const root = node(id, 1);
  let leaves = [root];
  while (leaves.length < maxLeaves) {
    const latest = leaves.reduce((a, b) => (b.step > a.step ? b : a));
    if (latest.step < 0) break;
    latest.parents = parentsOf(latest.id).map((of) => node(of, latest.row + 1));
    leaves = leaves.flatMap((leaf) => (leaf === latest ? leaf.parents : leaf));
  }
  leaves.forEach((leaf, i) => ([leaf.from, leaf.to] = [i + 1, i + 2]));
  const nodes = [];
  const visit = (of) => {
    nodes.push(of);
    if (!of.parents) return;
    of.parents.forEach(visit);
    [of.from, of.to] = [of.parents[0].from, of.parents[1].to];
  };
  visit(root);
  return { nodes, leaves };
}
