/** The tasks of a phase by id, and which of them are left to do. */

/** The part of a phase that gives its tasks their ids. */
export interface HasTasks<T extends { readonly id?: string }> {
  readonly id: string
  readonly tasks: ReadonlyArray<T>
}

export type Identified<T> = T & { readonly id: string }

/**
 * The tasks of a phase in the order of the text, each with an id: its own, or `<phase>-T<n>` where n is its number among
 * the tasks of the phase, from 1. Surprise: an item added above items without ids changes their ids (`samePrefix`
 * reports that).
 *
 * @example taskList(phase).map(({ id }) => id) // ["P1.1", "1-T2"]
 */
export const taskList = <T extends { readonly id?: string }>(phase: HasTasks<T>): ReadonlyArray<Identified<T>> =>
  phase.tasks.map((task, index) => ({ ...task, id: task.id ?? `${phase.id}-T${index + 1}` }))

/** The first task whose id is not in `completed`; boxes do not count. */
export const nextTask = <T extends { readonly id?: string }>(
  phase: HasTasks<T>,
  completed: Iterable<string>
): Identified<T> | undefined => {
  const done = new Set(completed)
  return taskList(phase).find((task) => !done.has(task.id))
}
