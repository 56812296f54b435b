/** The hosts of open runs, as data and as text for people. Pure. */
import type { RunId, RunView } from "@reprise/protocol"
import { table } from "./table.ts"

export interface HostOfRuns {
  readonly host: string
  /** Whether its services answer; absent: nobody could tell. */
  readonly hosted?: boolean
  /** Its open runs. */
  readonly runs: ReadonlyArray<RunId>
  /** Those whose code has a remote: they can go on elsewhere. */
  readonly movable: ReadonlyArray<RunId>
}

/** A host does its work if it does that of one of its runs. */
const hostedOf = (runs: ReadonlyArray<RunView>): boolean | undefined => {
  if (runs.some(({ hosted }) => hosted === true)) return true
  return runs.some(({ hosted }) => hosted === false) ? false : undefined
}

/** By name. A run that no host has taken yet is on none. */
export const hostsOf = (runs: ReadonlyArray<RunView>): ReadonlyArray<HostOfRuns> =>
  [...Map.groupBy(runs, ({ host }) => host)]
    .flatMap(([host, own]) => {
      if (host === undefined) return []
      const hosted = hostedOf(own)
      return [
        {
          host,
          ...(hosted === undefined ? {} : { hosted }),
          runs: own.map(({ runId }) => runId),
          movable: own.flatMap(({ remote, runId }) => (remote === undefined ? [] : [runId]))
        }
      ]
    })
    .sort((one, another) => one.host.localeCompare(another.host))

const standing = ({ hosted }: HostOfRuns): string => {
  if (hosted === undefined) return "unknown"
  return hosted ? "works" : "does not answer"
}

export const hostsTable = (hosts: ReadonlyArray<HostOfRuns>): string =>
  table(
    ["host", "state", "open runs", "with a remote"],
    hosts.map((host) => [host.host, standing(host), String(host.runs.length), String(host.movable.length)])
  )
