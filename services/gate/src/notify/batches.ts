/** Which notices of a channel become one message (docs/notifications.md#batches). Pure. */
import { isClosing, type QuestionNotice } from "./Notice.ts"

/** Programs get every notice by itself; what people read comes together. */
export const isBatched = (preset: string): boolean => preset !== "webhook"

const groupOf = (notice: QuestionNotice): string => (isClosing(notice) ? "closing" : notice._tag)

/** In the order in which the first of each kind came; a message is about one kind. */
export const batchesOf = <A extends { readonly notice: QuestionNotice }>(
  waiting: ReadonlyArray<A>
): ReadonlyArray<readonly [A, ...ReadonlyArray<A>]> => {
  const groups = new Map<string, [A, ...Array<A>]>()
  for (const one of waiting) {
    const group = groups.get(groupOf(one.notice))
    if (group === undefined) groups.set(groupOf(one.notice), [one])
    else group.push(one)
  }
  return [...groups.values()]
}
