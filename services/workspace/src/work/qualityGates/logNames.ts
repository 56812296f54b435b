/** Paths of log files, relative to the repository. The same commands always give the same paths. */
import { slugOf } from "@reprise/plan"
import type { PhaseId, RunId } from "@reprise/protocol"

/** One slug per command; commands that would have the same slug are numbered. */
export const commandSlugs = (commands: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set<string>()
  return commands.map((command) => {
    const base = slugOf(command, "command")
    let name = base
    for (let n = 2; taken.has(name); n++) name = `${base}-${n}`
    taken.add(name)
    return name
  })
}

const logDirectory = (runId: RunId): string => `.reprise/logs/${runId}`

export const qualityLog = (runId: RunId, phase: PhaseId, attempt: number, commandSlug: string): string =>
  `${logDirectory(runId)}/quality-phase${phase}-attempt${attempt}-${commandSlug}.log`

/** The log of a command that verifies a checkpoint. */
export const verifyLog = (runId: RunId, phase: PhaseId, checkpoint: number, commandSlug: string): string =>
  `${logDirectory(runId)}/verify-phase${phase}-checkpoint${checkpoint}-${commandSlug}.log`

export const postCreateLog = (runId: RunId, commandSlug: string): string =>
  `${logDirectory(runId)}/post-create-${commandSlug}.log`

/** Only logs of this run: nothing else that a working tree holds can be asked for. */
export const isLogOf = (runId: RunId, path: string): boolean => {
  const name = path.slice(logDirectory(runId).length + 1)
  return path === `${logDirectory(runId)}/${name}` && /^[A-Za-z0-9_.-]+\.log$/.test(name)
}
