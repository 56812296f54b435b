/** Images of programs of this machine with the libraries that they load: nothing is pulled. */
import { execFile } from "node:child_process"
import { cpSync } from "node:fs"
import { promisify } from "node:util"
import { Effect, FileSystem, Path } from "effect"

const run = promisify(execFile)

/** The libraries a program loads, by their paths: lines of `ldd`. A static program has none. */
export const librariesIn = (listing: string): ReadonlyArray<string> =>
  listing.split("\n").flatMap((line) => {
    const path = /(?:=> )?(\/\S+) \(0x[0-9a-f]+\)/.exec(line)?.[1]
    return path === undefined ? [] : [path]
  })

const librariesOf = (program: string) =>
  Effect.promise(() =>
    run("ldd", [program]).then(
      ({ stdout }) => librariesIn(stdout),
      () => []
    )
  )

/**
 * A folder with a Dockerfile from which an engine builds an image of programs, each at its path in `programs`, with the
 * libraries that they load, and of `folders`, at the same path as here. It is removed with the scope.
 */
export const programContext = Effect.fnUntraced(function* (
  programs: Readonly<Record<string, string>>,
  folders: ReadonlyArray<string> = []
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const context = yield* fs.makeTempDirectoryScoped({ prefix: "reprise-image-" })
  const put = (from: string, to: string) =>
    fs.makeDirectory(path.dirname(to), { recursive: true }).pipe(Effect.andThen(fs.copyFile(from, to)))
  for (const [at, program] of Object.entries(programs)) {
    yield* put(program, `${context}/root${at}`)
    for (const library of yield* librariesOf(program)) yield* put(library, `${context}/root${library}`)
    yield* fs.chmod(`${context}/root${at}`, 0o755)
  }
  // Git's programs are links to one, which Effect's own copy would follow.
  for (const folder of folders) cpSync(folder, `${context}/root${folder}`, { recursive: true, verbatimSymlinks: true })
  yield* fs.writeFileString(`${context}/Dockerfile`, "FROM scratch\nCOPY root/ /\n")
  return context
})
