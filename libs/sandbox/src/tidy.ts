/** Before and after each turn and quality gate: what commands may have made that programs outside would obey, and what they committed. */
import { Effect } from "effect"
import { takeIn } from "./clone/takeIn.ts"
import { putAsideLeft } from "./replaced/leftovers.ts"
import { tellReplaced } from "./replaced/tellReplaced.ts"
import { type Host, onDisk, putAsideNested, sharedFolder } from "./SandboxHost.ts"

export const tidy = Effect.fnUntraced(
  function* (host: Host, directory: string) {
    yield* Effect.tap(
      onDisk(directory, () => putAsideLeft(sharedFolder(host.options), "all")),
      tellReplaced
    )
    yield* putAsideNested(host, directory)
    yield* takeIn(host, directory)
  },
  // Some who call this end, and ask for no answer.
  Effect.tapError((fault) => Effect.logWarning(fault.message))
)
