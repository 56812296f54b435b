/** What `reprise up` prints when it starts. Pure. */
import type { RunView } from "@reprise/protocol"
import { visible } from "../terminal/visible.ts"
import { stepName } from "./stepText.ts"

export interface Served {
  /** Absolute path of the repository. */
  readonly directory: string
  /** This process does the work; false: another one does. */
  readonly works: boolean
  readonly openRuns: ReadonlyArray<RunView>
  /** URL of a server that others run. */
  readonly broker?: string
}

const nextStep = ({ escalationId, runId, status }: RunView): string => {
  if (status === "paused") return `; 'reprise resume ${runId}' continues it`
  return escalationId === undefined ? "" : `; 'reprise gate answer ${escalationId} CHOICE' answers it`
}

const runLine = (run: RunView): string => {
  const at = [run.phase === undefined ? [] : [`phase ${run.phase}`], run.step === undefined ? [] : stepName(run.step)]
    .flat()
    .join(", ")
  return `  ${run.runId} ${visible(run.planPath)}: ${run.status}${at === "" ? "" : ` (${at})`}${nextStep(run)}`
}

/** Without user and password. */
const address = (url: string): string => {
  if (!URL.canParse(url)) return url
  const { host, protocol } = new URL(url)
  return `${protocol}//${host}`
}

export const servingLines = ({ broker, directory, openRuns, works }: Served): ReadonlyArray<string> => {
  const where = broker === undefined ? directory : `${directory} through ${address(broker)}`
  return [
    works
      ? `Serving ${where}: orchestrator, session-manager, reviewer, gate, workspace. Ctrl-C stops.`
      : `Another Reprise process serves ${where}; this one follows and takes over when it ends. Ctrl-C stops.`,
    openRuns.length === 0 ? "No open run: 'reprise run PLAN.md' in another terminal starts one." : "Open runs:",
    ...openRuns.map(runLine)
  ]
}

/** Where the web console is. */
export interface ConsoleLink {
  /** Where it listens; absent: on this machine's own address. */
  readonly listen?: string
  readonly port: number
  /** The address for browsers: of this machine, or of a proxy. */
  readonly address: string
  /** For people. */
  readonly tokenFile: string
  /** Absent: it must not be printed. */
  readonly token?: string
  /** It shows everything and takes no answer. */
  readonly isForViewers?: boolean
}

/**
 * The console's link. The token stands after `#`, which no browser sends, so it is in no request, log or referrer of a
 * server. Without a terminal the line may be kept in a file, and the token is left out.
 */
export const consoleLine = ({
  address,
  isForViewers = false,
  listen = "127.0.0.1",
  port,
  token,
  tokenFile
}: ConsoleLink): string => {
  const entrance = token === undefined ? `/ (sign in with the token in ${tokenFile})` : `/#token=${token}`
  return `${isForViewers ? "For viewers" : "Web console"} on ${listen}:${port}: ${address}${entrance}`
}
