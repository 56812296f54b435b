/** What `reprise up` serves, in words. Pure. */
import type { RunView } from "@reprise/protocol"
import { visible } from "../terminal/Printer.ts"

export interface Served {
  /** Absolute path of the repository. */
  readonly directory: string
  /** This process does the work; false: another one does. */
  readonly works: boolean
  readonly runs: ReadonlyArray<RunView>
  /** A server that others run. */
  readonly broker?: string
}

const nextStep = ({ escalationId, runId, status }: RunView): string => {
  if (status === "paused") return `; 'reprise resume ${runId}' lets it go on`
  return escalationId === undefined ? "" : `; 'reprise gate answer ${escalationId} CHOICE' answers it`
}

const runLine = (run: RunView): string => {
  const at = [run.phase === undefined ? [] : [`phase ${run.phase}`], run.step ?? []].flat().join(", ")
  return `  ${run.runId} ${visible(run.planPath)}: ${run.status}${at === "" ? "" : ` (${at})`}${nextStep(run)}`
}

/** Without user and password. */
const address = (url: string): string => {
  if (!URL.canParse(url)) return url
  const { host, protocol } = new URL(url)
  return `${protocol}//${host}`
}

export const serving = ({ broker, directory, runs, works }: Served): ReadonlyArray<string> => {
  const open = runs.filter(({ status }) => status === "running" || status === "waiting" || status === "paused")
  const where = broker === undefined ? directory : `${directory} through ${address(broker)}`
  return [
    works
      ? `serving ${where}: orchestrator, session-manager, reviewer, gate, workspace; Ctrl-C stops`
      : `another Reprise does the work of ${where}; this one follows, and goes on when that ends. Ctrl-C leaves`,
    open.length === 0 ? "no open run: 'reprise run PLAN.md' in another terminal starts one" : "open runs:",
    ...open.map(runLine)
  ]
}
