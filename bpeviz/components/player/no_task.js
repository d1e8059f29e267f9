// Stands in for `task.js` where the stage has no tasks (`STAND_INS` in `__init__.py`).

export class Task {
  isSolved = true;
  takesPlaces = false;
  update() {}
  place() {}
  clear() {}
  leave() {}
}
