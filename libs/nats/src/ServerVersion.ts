/** What a version of nats-server supports, and which guarantees it lacks. Pure. */
import { Option } from "effect"

export interface ServerVersion {
  readonly major: number
  readonly minor: number
  readonly patch: number
}

const versionPattern = /(?:^|[^\d.])v?(\d+)\.(\d+)\.(\d+)/

/** Reads `2.10.27`, `v2.12.0-RC.1`, or the output of `nats-server --version`. */
export const parseServerVersion = (text: string): Option.Option<ServerVersion> => {
  const match = versionPattern.exec(text)
  if (match === null) return Option.none()
  const [, major, minor, patch] = match
  return Option.some({ major: Number(major), minor: Number(minor), patch: Number(patch) })
}

export const formatVersion = (version: ServerVersion): string => `${version.major}.${version.minor}.${version.patch}`

/** Negative when `a` is older than `b`, 0 when equal, positive when newer. */
export const compareVersions = (a: ServerVersion, b: ServerVersion): number =>
  a.major - b.major || a.minor - b.minor || a.patch - b.patch

const since = (major: number, minor: number, patch: number): ServerVersion => ({ major, minor, patch })

/** The oldest server Reprise works with. */
export const oldestVersion = since(2, 9, 0)
/** The oldest version in which an acknowledged message survives a power cut and the known JetStream bugs of 2.10 are fixed. */
export const minimumVersion = since(2, 10, 23)
/** The version for new installations. */
export const recommendedVersion = since(2, 12, 3)

const features = {
  /** `sync_interval: always`: fsync before the acknowledgement. Older servers refuse to start with it. */
  syncAlways: since(2, 10, 0),
  /** A consumer with more than one filter subject. */
  filterSubjects: since(2, 10, 0),
  /** Metadata on streams and consumers. */
  metadata: since(2, 10, 0),
  /** A limit for the number of log files. */
  logFileLimit: since(2, 10, 0),
  /** `term` with a reason, which older versions ignore silently. */
  termReason: since(2, 10, 4),
  /** A time to live on single messages. */
  messageTtl: since(2, 11, 0),
  /** Several messages in one atomic write. */
  atomicBatch: since(2, 12, 0),
  /** Messages delivered at a given time. */
  scheduledMessages: since(2, 12, 0)
} as const satisfies Record<string, ServerVersion>

export type ServerFeature = keyof typeof features

export const supports = (version: ServerVersion, feature: ServerFeature): boolean =>
  compareVersions(version, features[feature]) >= 0

/** Warnings about this version for `doctor` and the start message; empty when all guarantees hold. */
export const notGuaranteed = (version: ServerVersion): ReadonlyArray<string> => {
  const found = formatVersion(version)
  if (compareVersions(version, oldestVersion) < 0) {
    return [`nats-server ${found} is not supported: use ${formatVersion(minimumVersion)} or newer.`]
  }
  const lacks: Array<string> = []
  if (!supports(version, "syncAlways")) {
    lacks.push(
      `nats-server ${found} acknowledges before it writes to disk: a power cut can lose the last messages.`,
      `nats-server ${found} can hang on a full disk until it is restarted.`
    )
  }
  if (compareVersions(version, minimumVersion) < 0) {
    lacks.push(
      `nats-server ${found} is older than ${formatVersion(minimumVersion)}, the oldest version that Reprise guarantees to work with.`
    )
  }
  return lacks
}
