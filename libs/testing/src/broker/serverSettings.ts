export interface ServerPlace {
  readonly host: string
  /** -1: any free port. */
  readonly port: number
  readonly storeDirectory: string
  /** Where the server writes which ports it has. */
  readonly portsDirectory?: string
  readonly logFile?: string
}

/**
 * The configuration of a broker for tests: every acknowledged message is on the disk, as in production.
 * @param canSyncAlways from 2.10; older servers refuse to start with `sync_interval`
 */
export const serverSettings = (place: ServerPlace, canSyncAlways: boolean, more = ""): string =>
  [
    `host: "${place.host}"`,
    `port: ${place.port}`,
    ...(place.portsDirectory === undefined ? [] : [`ports_file_dir: "${place.portsDirectory}"`]),
    ...(place.logFile === undefined ? [] : [`log_file: "${place.logFile}"`]),
    "jetstream {",
    `  store_dir: "${place.storeDirectory}"`,
    "  max_file_store: 16GB",
    "  max_memory_store: 64MB",
    ...(canSyncAlways ? ["  sync_interval: always"] : []),
    "}",
    more,
    ""
  ].join("\n")
