// Stands in for merges on the letters where the text is too long for them (`STAND_INS` in `__init__.py`).

export class MergeBlocks {
  isEmpty = true;
}

export const tokensOverTime = () => [];
