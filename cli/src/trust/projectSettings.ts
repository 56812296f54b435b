/** Whether a runtime may read the settings that a repository brings for it. */
import type { ProjectSettings, ProjectVerdict } from "@reprise/agent"
import type { RuntimeName } from "@reprise/protocol"
import { Effect } from "effect"
import { type Project, repositoryOf } from "../project/Project.ts"
import { visibleLine } from "../terminal/visible.ts"
import { type AgentFile, agentFiles } from "./agentFiles.ts"
import { redirectedImports } from "./openCodeImports.ts"
import { readTrust, type TrustEntry, writeTrust } from "./trustFile.ts"
import { trustEntries } from "./trustStore.ts"

const kind = "file"

/** The files of a runtime in a working tree of the project's clone that nobody has trusted as they are. */
export const untrustedAgentFiles = Effect.fnUntraced(function* (
  project: Project,
  runtime: RuntimeName,
  directory = project.root
) {
  const files = yield* agentFiles(project, runtime, directory)
  if (files.length === 0) return []
  const { entries } = yield* readTrust(project)
  const trusted = new Set(entries.flatMap(({ digest, what }) => (what === kind ? [digest] : [])))
  return files.filter(({ digest, doubt }) => doubt !== undefined || !trusted.has(digest))
})

const entryOf = ({ digest, path, sizeBytes }: AgentFile): TrustEntry => ({
  what: kind,
  from: path,
  digest,
  values: [`${sizeBytes} bytes, sha256 ${digest.slice(0, 16)}`],
  trustedAt: new Date().toISOString()
})

/** Trusts these files as they are; the doubtful ones are left out. */
export const trustAgentFiles = (project: Project, files: ReadonlyArray<AgentFile>) =>
  trustEntries(project, files.filter(({ doubt }) => doubt === undefined).map(entryOf))

/** All files of the project's own working tree, whichever runtime reads them: those of any agent. */
export const allAgentFiles = (project: Project) => agentFiles(project, "acp:")

/** Forgets what was trusted of files that have changed or gone: to turn back to it needs trust again. */
export const forgetOutdatedFiles = Effect.fnUntraced(function* (project: Project) {
  const { entries } = yield* readTrust(project)
  if (!entries.some(({ what }) => what === kind)) return
  const now = new Set((yield* allAgentFiles(project)).map(({ digest }) => digest))
  const kept = entries.filter(({ digest, what }) => what !== kind || now.has(digest))
  if (kept.length < entries.length) yield* writeTrust(project, kept)
})

const shownFiles = 10

const refused = (runtime: RuntimeName, directory: string, paths: ReadonlyArray<string>): ProjectVerdict => {
  const more = paths.length > shownFiles ? ` and ${paths.length - shownFiles} more` : ""
  const names = `${paths.slice(0, shownFiles).map(visibleLine).join(", ")}${more}`
  return {
    _tag: "refused",
    detail: `The settings for ${runtime} in ${directory} are not trusted: ${names}. Read them, then use 'reprise trust'.`
  }
}

/** Of trusted files. */
const verdictOnImports = Effect.fnUntraced(function* (runtime: RuntimeName, directory: string) {
  const detail = runtime === "opencode" ? yield* Effect.promise(() => redirectedImports(directory)) : undefined
  const verdict: ProjectVerdict = detail === undefined ? { _tag: "trusted" } : { _tag: "refused", detail }
  return verdict
})

/**
 * The verdict for every working tree of a project, and of the clones of a host that works without a repository of its own. Without
 * a readable record nothing is trusted.
 */
export const projectSettings =
  (project: Project, runtime: RuntimeName): ProjectSettings =>
  (directory) =>
    untrustedAgentFiles(repositoryOf(directory) ?? project, runtime, directory).pipe(
      Effect.flatMap((files) => {
        const paths = files.map(({ path }) => path)
        return paths.length === 0
          ? verdictOnImports(runtime, directory)
          : Effect.succeed(refused(runtime, directory, paths))
      }),
      Effect.catch(({ message }) =>
        Effect.succeed<ProjectVerdict>({
          _tag: "refused",
          detail: `The settings for ${runtime} are not used: ${message}`
        })
      )
    )
