/** What the program `find` finds. Names of files may be any bytes, and a command chooses them. */
import { basename } from "node:path"
import { runProgram } from "@reprise/process"
import { Effect } from "effect"

export interface FoundPaths {
  readonly paths: ReadonlyArray<Buffer>
  /** There are more. */
  readonly isCut: boolean
  /** What `find` could not look at, but for what was removed meanwhile. */
  readonly unseen: string | undefined
}

const pathsIn = (all: Buffer): ReadonlyArray<Buffer> => {
  const paths: Array<Buffer> = []
  for (let from = 0, to = all.indexOf(0); to >= 0; from = to + 1, to = all.indexOf(0, from)) {
    paths.push(all.subarray(from, to))
  }
  return paths
}

/** `args`: with `-print0`. `search`: the `PATH` on which `find` is looked up. `mostBytes`: of all paths together. */
export const findPaths = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  { mostBytes, search }: { readonly mostBytes: number; readonly search: string }
) {
  const pieces: Array<Buffer> = []
  let room = mostBytes
  const take = (piece: Buffer) => {
    room -= piece.length
    if (room >= 0) pieces.push(piece)
  }
  const { exitCode, stderr } = yield* runProgram({
    program: "find",
    args,
    environment: { PATH: search, LC_ALL: "C" },
    take
  })
  const unseen = stderr.split("\n").find((line) => line !== "" && !line.endsWith("No such file or directory"))
  return {
    paths: pathsIn(Buffer.concat(pieces)),
    isCut: room < 0,
    unseen: exitCode === 0 ? undefined : unseen
  } satisfies FoundPaths
})

/** A path as text; undefined: it is none, so that no other program of Reprise's can name it. */
export const textOfPath = (path: Buffer): string | undefined => {
  const text = path.toString("utf8")
  return Buffer.from(text).equals(path) ? text : undefined
}

/** A pattern of `find` for what names a folder on its way. */
const naming = (folder: string): string => `*${basename(folder).replaceAll(/[*?[\]\\]/g, "?")}*`

/** For `find`: links that may lead into one of the folders, or to where they lead each program elsewhere. */
export const linksInto = (folders: ReadonlyArray<string>): ReadonlyArray<string> => {
  const patterns = [...new Set([...folders, "/proc", "/dev"].map(naming))]
  return [
    "(",
    "-type",
    "l",
    "(",
    ...patterns.flatMap((one, at) => [...(at === 0 ? [] : ["-o"]), "-lname", one]),
    ")",
    ")"
  ]
}

/** A pattern of `find -path` for one path and no other. */
export const exactly = (path: string): string => path.replaceAll(/[*?[\]\\]/g, "\\$&")
