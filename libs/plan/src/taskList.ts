/** The tasks of a phase by id, and what is left of them. */

/** What is needed of a phase to name its tasks; a `Phase` and a `PhaseOutline` are such. */
export interface HasTasks<T extends { readonly id?: string }> {
  readonly id: string
  readonly tasks: ReadonlyArray<T>
}

export type Identified<T> = T & { readonly id: string }

/**
 * The tasks in the order of the text, each with an id: its own, or `<phase>-T<n>` where n is its place among the tasks
 * of the phase, from 1. An item that is added above others without ids thus renames them: `samePrefix` reports it.
 */
export const taskList = <T extends { readonly id?: string }>(phase: HasTasks<T>): ReadonlyArray<Identified<T>> =>
  phase.tasks.map((task, index) => ({ ...task, id: task.id ?? `${phase.id}-T${index + 1}` }))

/** The first task that is not completed, by the journal's word and not by the boxes. */
export const nextTask = <T extends { readonly id?: string }>(
  phase: HasTasks<T>,
  completed: Iterable<string>
): Identified<T> | undefined => {
  const done = new Set(completed)
  return taskList(phase).find((task) => !done.has(task.id))
}

export interface BoxMismatch {
  readonly id: string
  readonly checked: boolean
  readonly completed: boolean
}

/** Tasks whose box says something else than the journal does (continuation: Plans). */
export const boxMismatches = (
  phase: HasTasks<{ readonly id?: string; readonly checked: boolean }>,
  completed: Iterable<string>
): ReadonlyArray<BoxMismatch> => {
  const done = new Set(completed)
  return taskList(phase).flatMap(({ id, checked }) =>
    checked === done.has(id) ? [] : [{ id, checked, completed: done.has(id) }]
  )
}
