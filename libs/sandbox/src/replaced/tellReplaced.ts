import { Effect } from "effect"
import type { Replaced } from "./heldFolders.ts"

const listed = (replaced: ReadonlyArray<Replaced>) =>
  replaced
    .slice(0, 20)
    .map(({ path }) => path)
    .join(", ")

/** Says in the log what took the place of protected files and folders. */
export const tellReplaced = (replaced: ReadonlyArray<Replaced>) => {
  const [back, gone] = [true, false].map((isBack) => replaced.filter((one) => one.isBack === isBack))
  const sentences = [
    ...(back === undefined || back.length === 0
      ? []
      : [
          `Replaced while commands ran that could have written it then: ${listed(back)}. The one from before is back, and the other is in .reprise/sandbox/refused: if the change is yours, make it again.`
        ]),
    ...(gone === undefined || gone.length === 0
      ? []
      : [
          `Replaced while commands ran that could have written it then: ${listed(gone)}. It is in .reprise/sandbox/refused, and there is no copy of the one from before: look at it, and move it back.`
        ])
  ]
  return Effect.forEach(sentences, (sentence) => Effect.logWarning(sentence), { discard: true })
}
