/** What a command says of files that it may not write: the kernel tells nobody else (docs/design/workspace.md#sandbox). Pure. */

/** What `strerror` says for `EROFS`, and Node its name. */
const isAboutWriting = (line: string): boolean => /read-only file system|\bEROFS\b/i.test(line)

/** A program that runs amok names thousands; nobody reads so many. */
const mostPaths = 20
/** Longer ones are no message. */
const longestLine = 4096

const quotedPaths = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/'(\/[^']*)'|"(\/[^"]*)"|‘(\/[^‘’]*)’/g)].flatMap(
    ([, single, double, curly]) => single ?? double ?? curly ?? []
  )

/** `cannot create /a: Read-only file system`, `Read-only file system: /a`, `/a (Read-only file system)`. */
const barePath = (line: string): string | undefined => {
  const reason = /(?:: (?:[^:/]+: )?|\s\()read-only file system/i.exec(line)
  const said = line.slice(0, reason?.index ?? 0)
  const [, before] = /(?:^|[\s:])(\/.*)/.exec(said.slice(said.lastIndexOf(": ") + 1)) ?? []
  if (before !== undefined) return before
  const [, after] = /read-only file system(?:: | @ \S+ - )(\/\S+)/i.exec(line) ?? []
  return after
}

/**
 * The absolute paths that lines of an output say could not be written, each once. Of several in a line it is the last one:
 * `mv` and `rename` name the source first. A path without its folder is left out, since a command may have changed its own.
 */
export const refusedPathsIn = (output: string): ReadonlyArray<string> => {
  const paths = new Set<string>()
  for (const line of output.split(/\r?\n/)) {
    if (paths.size >= mostPaths) break
    if (line.length > longestLine || !isAboutWriting(line)) continue
    const path = quotedPaths(line).at(-1) ?? barePath(line)
    // Control characters would disguise what is asked; NUL is no part of a path.
    if (path !== undefined && !/\p{Cc}/u.test(path)) paths.add(path)
  }
  return [...paths]
}
