/**
 * That a worktree was prepared, and what it held then. The record is beside Reprise's own index of the tree, where no command of
 * any run can write: what it names counts as no change.
 */
import { readForeignText, replaceFile } from "@reprise/process"
import { Effect, Result, Schema } from "effect"
import type { Place } from "../../actor/work.ts"
import { asNotAFile, HostFault } from "../faults.ts"
import { ownTreeFolder } from "../git/ownTreeFolder.ts"

type Tree = Pick<Place, "directory" | "root">

const Prepared = Schema.fromJsonString(Schema.Struct({ tolerated: Schema.Array(Schema.String) }))
const decode = Schema.decodeUnknownResult(Prepared)

const recordOf = (tree: Tree): string => `${ownTreeFolder(tree)}-prepared.json`

const attempt = <A>(operation: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => asNotAFile(cause) ?? new HostFault({ operation, cause }) })

/** What `markPrepared` recorded; undefined when preparing this worktree was not completed. */
export const readPrepared = (tree: Tree) =>
  attempt("reading whether the worktree is prepared", async () => {
    const text = await readForeignText(recordOf(tree), { largestBytes: 1024 * 1024, follow: false })
    return text === undefined ? undefined : Result.getOrUndefined(decode(text))
  })

/** Records that a worktree's `postCreate` commands have run, and which uncommitted paths they left. */
export const markPrepared = (tree: Tree, tolerated: ReadonlyArray<string>) =>
  attempt("recording that the worktree is prepared", () => replaceFile(recordOf(tree), JSON.stringify({ tolerated })))
