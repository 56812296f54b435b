/** Files of a workspace, by paths that plans, agents and messages name. Nothing outside the root is read or written. */
import type { FileHandle } from "node:fs/promises"
import { Context, Effect, Layer, type Scope } from "effect"
import { HostFault, NotAFile, OutsideWorkspace } from "./faults.ts"
import { createInside, type Kind, kindInside, readInside, replaceInside } from "./insideDirectory.ts"

export type FileError = OutsideWorkspace | NotAFile | HostFault

const attempt = <A>(operation: string, run: () => Promise<A>): Effect.Effect<A, FileError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      cause instanceof OutsideWorkspace || cause instanceof NotAFile ? cause : new HostFault({ operation, cause })
  })

/** An output file. */
export interface Log {
  readonly write: (chunk: Uint8Array) => Effect.Effect<void, FileError>
  /** Returns when everything written is on disk. */
  readonly flush: Effect.Effect<void, FileError>
}

export class WorkspaceFiles extends Context.Service<
  WorkspaceFiles,
  {
    /** The text of a file; undefined when there is none. */
    readonly read: (root: string, path: string) => Effect.Effect<string | undefined, FileError>
    /** What lies at a path; undefined when nothing does. */
    readonly kind: (root: string, path: string) => Effect.Effect<Kind | undefined, FileError>
    /** Atomic and on disk when it returns; directories on the way are made. */
    readonly replace: (root: string, path: string, text: string) => Effect.Effect<void, FileError>
    /** An empty file, open until the scope closes; directories on the way are made. */
    readonly createLog: (root: string, path: string) => Effect.Effect<Log, FileError, Scope.Scope>
  }
>()("workspace/WorkspaceFiles") {
  static readonly layer = Layer.succeed(WorkspaceFiles, {
    read: (root, path) => attempt(`reading ${path}`, () => readInside(root, path)),
    kind: (root, path) => attempt(`looking for ${path}`, () => kindInside(root, path)),
    replace: (root, path, text) => attempt(`writing ${path}`, () => replaceInside(root, path, text)),
    createLog: (root, path) =>
      Effect.acquireRelease(
        attempt(`writing ${path}`, () => createInside(root, path)),
        (file: FileHandle) => Effect.promise(() => file.close().catch(() => undefined))
      ).pipe(
        Effect.map((file) => ({
          write: (chunk) => attempt(`writing ${path}`, () => file.appendFile(chunk)),
          flush: attempt(`writing ${path}`, () => file.sync())
        }))
      )
  })
}
