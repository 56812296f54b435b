/** What is kept of a branch on which a run has worked, where no command of any run can write (`prepare/approvedCommit.ts`). */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { readForeignText, replaceFile, stateFolder, treeFolder } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { HostFault } from "../faults.ts"

/** Full hashes. `left`: where the branch was when a run in the user's own tree ended without being complete. */
const Approved = Schema.Struct({ commit: Schema.String, left: Schema.optionalKey(Schema.String) })
export type Approved = typeof Approved.Type
const Recorded = Schema.fromJsonString(Approved)
const decode = Schema.decodeUnknownOption(Recorded)

const recordOf = (root: string, branch: string) =>
  `${treeFolder(join(root, stateFolder), `refs/heads/${branch}`)}-approved.json`

const onDisk = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new HostFault({ operation: "keeping which commit of a branch is approved", cause })
  })

export const approved = (root: string, branch: string) =>
  Effect.map(
    onDisk(() => readForeignText(recordOf(root, branch), { largestBytes: 4096, follow: false })),
    (text) => (text === undefined ? undefined : Option.getOrUndefined(decode(text)))
  )

export const recordApproved = (root: string, branch: string, now: Approved | undefined) =>
  onDisk(() =>
    now === undefined
      ? rm(recordOf(root, branch), { force: true })
      : replaceFile(recordOf(root, branch), JSON.stringify(now))
  )
