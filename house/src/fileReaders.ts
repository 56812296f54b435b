/**
 * Finds production code that reads or opens files in a way of its own. What somebody else may have put at a path can be a
 * pipe, a device, or without an end, so `readForeignFile` and its neighbours of `@reprise/process` read it. Functions that
 * only look at names, move or remove them are free. Where these read a file, they say whether a link is followed: it can
 * lead to what whoever made it may not read.
 */
import { parseSync, Visitor } from "oxc-parser"
import { isForTests, lineAt, productionFiles, type Sources } from "./sources.ts"

/** Neither opens a file nor lists a folder. */
const harmless: ReadonlySet<string> = new Set([
  ...["access", "accessSync", "chmod", "chmodSync", "constants", "existsSync", "link", "lstat", "lstatSync", "mkdir"],
  ...[
    "mkdirSync",
    "mkdtemp",
    "mkdtempSync",
    "readlink",
    "readlinkSync",
    "realpath",
    "realpathSync",
    "rename",
    "rm",
    "rmSync",
    "rmdir"
  ],
  ...["stat", "statSync", "statfs", "statfsSync", "watch"]
])

/** Files, and folders that end in `/`, that may use the others, and why. */
export const ownReaders: Readonly<Record<string, string>> = {
  "libs/process/src/foreignFile.ts": "is the one way",
  "libs/process/src/files.ts": "writes a file of a new name, and moves it",
  "libs/process/src/privateFiles.ts": "writes a file of a new name, and moves it",
  "libs/process/src/programLog.ts": "reads the log that this process opened for a program",
  "libs/process/src/openFiles.ts": "reads /proc",
  "libs/process/src/gitLocks.ts": "reads /proc",
  "libs/process/src/leases.ts": "reads /proc",
  "libs/process/src/compareFiles.ts": "lists its own files in .reprise/trees, which no command sees",
  "libs/process/src/shadowedAttributes.ts": "lists names of git's folders, and fills a temporary folder of its own",
  "services/workspace/src/work/files/toleratedFiles.ts":
    "writes its own copies in .reprise/trees, which no command sees",
  "services/workspace/src/work/qualityGates/leftovers.ts":
    "reads its own copies in .reprise/trees, which no command sees, and puts them back through open folders",
  "libs/process/src/freeze.ts": "reads /proc",
  "libs/process/src/identity.ts": "reads /proc",
  "libs/process/src/inheritedFiles.ts": "reads /proc",
  "libs/process/src/Mark.ts": "reads /proc",
  "libs/process/src/ports.ts": "reads /proc",
  "libs/sandbox/src/command/usability.ts": "reads /proc",
  "libs/sandbox/src/policy/foreignSockets.ts": "reads /proc",
  "libs/sandbox/src/hostFolder.ts": "lists .reprise/sandbox, which no command sees",
  "libs/sandbox/src/nested/NestedWatch.ts": "writes in .reprise/sandbox, which no command sees",
  "libs/sandbox/src/replaced/heldFiles.ts": "copies files that no command may write, and lists .reprise/sandbox",
  "libs/sandbox/src/replaced/heldFolders.ts": "copies folders that no command may write, files of ordinary size alone",
  "libs/sandbox/src/clone/clones.ts": "makes a link",
  "libs/sandbox/src/clone/incoming.ts": "makes and lists a folder of its own, in which git alone writes",
  "libs/sandbox/src/clone/foreignCopies.ts": "writes a new file of its own",
  "libs/sandbox/src/clone/newSubmodules.ts": "writes into a folder of its own in the repository's git directory",
  "libs/sandbox/src/clone/makeClone.ts": "writes in a folder of a new name, which no command sees yet",
  "libs/sandbox/src/command/records.ts": "lists .reprise/sandbox, which no command sees",
  "libs/sandbox/src/disk/pinnedFolder.ts": "opens folders alone",
  "libs/process/src/removeForeign.ts": "opens folders alone",
  "libs/process/src/folderEntries.ts": "lists names that are not text",
  "libs/sandbox/src/disk/putAside.ts": "copies what it puts aside, files of ordinary size alone",
  "libs/agent/src/opencode/server/": "reads the package of the agent, and .reprise",
  "libs/agent/src/claude/sdk/ClaudeSdk.ts": "reads the package of the agent",
  "libs/nats/src/": "keeps the broker's own files, in .reprise and in the user's cache",
  "libs/observability/src/pinoLogger.ts": "writes the log in .reprise",
  "libs/scripted-model/src/": "is the model of tests and of the demo",
  "libs/testing/src/": "is for tests",
  "services/workspace/src/work/files/insideDirectory.ts": "opens a log without waiting, and looks what it opened",
  "services/workspace/src/work/files/withParent.ts": "opens directories alone",
  "services/workspace/src/work/git/ownTreeFolder.ts": "lists .reprise/trees, which no command sees",
  "services/workspace/src/work/remote/Remotes.ts": "lists the folder of this host's clones",
  "services/gate/src/work/console/pageRoutes.ts": "lists the pages that come with Reprise",
  "services/gate/src/work/notify/PushBrowsers.ts": "reads a file in the user's own folder",
  "cli/src/terminal/": "reads the terminal, and a temporary file for the user's editor",
  "cli/src/flows/demo/": "makes a repository of its own",
  "cli/src/flows/repository/init.ts": "creates files, and never opens one that is there",
  "cli/src/flows/repository/promptCommands.ts": "creates files, and never opens one that is there"
}

export interface FileReader {
  readonly file: string
  readonly line: number
  /** What it imports: `readFile`, or `*` for everything. */
  readonly name: string
}

const fileModule = /^(?:node:)?fs(?:\/promises)?$/
/** As what is called, or exported from. */
const named = /(?<=\(\s*|\bfrom\s*)(["'`])(?:node:)?fs(?:\/promises)?\1/g

const readersIn = (file: string, text: string): ReadonlyArray<FileReader> => {
  const { staticImports } = parseSync(file, text).module
  const imports = staticImports.flatMap(({ entries, moduleRequest, start }) => {
    const module = moduleRequest.value
    const isRefused = ({ kind, name }: { readonly kind: string; readonly name?: string | null }) =>
      fileModule.test(module)
        ? kind !== "Name" || !harmless.has(name ?? "")
        : kind === "Name" && name === "FileSystem" && module === "effect"
    return entries
      .filter(({ importName, isType }) => !isType && isRefused(importName))
      .map(({ importName }) => ({ file, line: lineAt(text, start), name: importName.name ?? "*" }))
  })
  // By import(), require() or a re-export everything comes in.
  const asImports = new Set(staticImports.map(({ moduleRequest }) => moduleRequest.start))
  const others = [...text.matchAll(named)]
    .filter(({ index }) => !asImports.has(index))
    .map(({ index }) => ({ file, line: lineAt(text, index), name: "*" }))
  return [...imports, ...others]
}

const foreignReaders: ReadonlySet<string> = new Set([
  "readForeignFile",
  "readForeignText",
  "readForeignPart",
  "readForeignEnd"
])

const saysLinks: ReadonlySet<string> = new Set(["follow", "below"])

/** Calls that leave open whether a link is followed. `name`: of the function. */
const undecidedIn = (file: string, text: string): ReadonlyArray<FileReader> => {
  const found: Array<FileReader> = []
  if (!text.includes("readForeign")) return found
  new Visitor({
    CallExpression: ({ arguments: given, callee, start }) => {
      if (callee.type !== "Identifier" || !foreignReaders.has(callee.name)) return
      const limits = given.at(-1)
      const isSaid =
        limits?.type === "ObjectExpression" &&
        limits.properties.some(
          (one) => one.type === "Property" && one.key.type === "Identifier" && saysLinks.has(one.key.name)
        )
      if (!isSaid) found.push({ file, line: lineAt(text, start), name: callee.name })
    }
  }).visit(parseSync(file, text).program)
  return found
}

/** Passes on what its callers say. */
const definesReaders = "libs/process/src/foreignFile.ts"

const entryFor = (file: string): string | undefined =>
  Object.keys(ownReaders).find((entry) => (entry.endsWith("/") ? file.startsWith(entry) : entry === file))

/**
 * Uses without an entry of `ownReaders`, calls that leave open whether a link is followed, and entries without a use.
 */
export const findFileReaders = (
  sources: Sources
): {
  readonly refused: ReadonlyArray<FileReader>
  readonly undecided: ReadonlyArray<FileReader>
  readonly unused: ReadonlyArray<string>
} => {
  const files = [...productionFiles(sources)].filter(([path]) => !isForTests(path))
  const found = files.flatMap(([file, text]) => readersIn(file, text))
  const used = new Set(found.map(({ file }) => entryFor(file)))
  return {
    refused: found.filter(({ file }) => entryFor(file) === undefined),
    undecided: files.flatMap(([file, text]) => (file === definesReaders ? [] : undecidedIn(file, text))),
    unused: Object.keys(ownReaders).filter((entry) => !used.has(entry))
  }
}

export const showFileReader = ({ file, line, name }: FileReader): string =>
  `${file}:${line} imports ${name} of node:fs: read what others may have written with readForeignFile of @reprise/process, or say in house/src/fileReaders.ts why not.`

export const showUndecided = ({ file, line, name }: FileReader): string =>
  `${file}:${line} calls ${name} without saying whether a link is followed: say follow, or below for what a command can write and somebody is shown.`
