/** Files of a workspace, by paths that plans, agents and messages name. Nothing outside the root is read or written. */
import type { FileHandle } from "node:fs/promises"
import { Context, Effect, Layer, type Scope } from "effect"
import { HostFault, OutsideWorkspace } from "./faults.ts"
import { createInside, existsInside, readInside, replaceInside } from "./insideDirectory.ts"

export type FileError = OutsideWorkspace | HostFault

const attempt = <A>(operation: string, run: () => Promise<A>): Effect.Effect<A, FileError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => (cause instanceof OutsideWorkspace ? cause : new HostFault({ operation, cause }))
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
    /** Whether something of this name is there, be it a link that leads nowhere. */
    readonly exists: (root: string, path: string) => Effect.Effect<boolean, FileError>
    /** Atomic and on disk when it returns; directories on the way are made. */
    readonly replace: (root: string, path: string, text: string) => Effect.Effect<void, FileError>
    /** An empty file, open until the scope closes; directories on the way are made. */
    readonly createLog: (root: string, path: string) => Effect.Effect<Log, FileError, Scope.Scope>
  }
>()("workspace/WorkspaceFiles") {
  static readonly layer = Layer.succeed(WorkspaceFiles, {
    read: (root, path) => attempt(`reading ${path}`, () => readInside(root, path)),
    exists: (root, path) => attempt(`looking for ${path}`, () => existsInside(root, path)),
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
