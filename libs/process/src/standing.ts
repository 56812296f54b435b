/**
 * What stood in a working tree before anybody worked in it: a person's own empty folders, the socket of a server that runs, caches. It is believed by its name; a record of Reprise's own says which it was.
 */
import { Effect, Schema } from "effect"
import { replaceFile } from "./files.ts"
import { readForeignText } from "./foreignFile.ts"
import { onDisk } from "./ownIndex.ts"

const Record = Schema.fromJsonString(Schema.Array(Schema.String))
const decode = Schema.decodeUnknownEffect(Record)

/** Beside the folder of the index, in which nothing else stays. */
const recordOf = (folder: string): string => `${folder}.json`

/** As many as a person may have; of more, none is believed. */
const largestBytes = 16 * 1024 * 1024

export interface Standing {
  readonly path: string
  /** It tells one kind from another: a pipe in the place of a folder is new. */
  readonly why?: string
}

const keyOf = ({ path, why = "" }: Standing): string => `${path}\0${why}`

const read = Effect.fnUntraced(function* (folder: string) {
  const text = yield* onDisk(() => readForeignText(recordOf(folder), { largestBytes, follow: false })).pipe(
    Effect.orElseSucceed(() => undefined)
  )
  return text === undefined
    ? undefined
    : new Set(yield* decode(text).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => [])))
})

const write = (folder: string, keys: ReadonlyArray<string>) =>
  onDisk(() => replaceFile(recordOf(folder), JSON.stringify(keys)))

/** Records what stands in a tree now, in the place of what was recorded. `folder`: that of Reprise's own index of the tree. */
export const recordStanding = (folder: string, found: ReadonlyArray<Standing>) => write(folder, found.map(keyOf))

/** Those that were not recorded: without a record nothing is believed. */
export const withoutStanding = Effect.fnUntraced(function* <A extends Standing>(
  folder: string,
  found: ReadonlyArray<A>
) {
  if (found.length === 0) return found
  const known = yield* read(folder)
  return found.filter((one) => known?.has(keyOf(one)) !== true)
})
