/** What a service, or a command for the server of the services, needs: the folder, its settings, and the server's address. */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import type { ServiceName } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import type { Config } from "../../config/resolveConfig.ts"
import { environmentName } from "../../config/settingsTable.ts"
import { findRepository, projectAt } from "../../project/Project.ts"
import { prepareState, requireOwnState } from "../../project/stateOrigin.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { type CliFailure, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { credentialSettings, serverSettings, type TrustedPath, trustedSettings } from "../../trust/trustedSettings.ts"

const writesState: ReadonlySet<ServiceName | undefined> = new Set(["session-manager", "workspace"])

/** Without git, a folder below which git would look is known by what it holds. */
const isInRepository = (directory: string): boolean =>
  existsSync(join(directory, ".git")) || (dirname(directory) !== directory && isInRepository(dirname(directory)))

const isNoRepository = ({ code }: CliFailure, directory: string): boolean =>
  code === "not-a-repository" || (code === "git-missing" && !isInRepository(directory))

/** A container's folder need not be a repository; then its state is whatever its operator mounts there. */
const projectToServe = (directory: string, service: ServiceName | undefined) =>
  findRepository(directory).pipe(
    Effect.flatMap((project) =>
      Effect.as(writesState.has(service) ? prepareState(project) : requireOwnState(project), {
        project,
        isRepository: true
      })
    ),
    Effect.catchIf(
      (failure) => isNoRepository(failure, directory),
      () => Effect.succeed({ project: projectAt(directory), isRepository: false })
    )
  )

/** Trust belongs to a clone. Outside of one, who wrote a file is unknown, and what needs trust comes from the environment. */
const requireEnvironment = Effect.fnUntraced(function* (config: Config, paths: ReadonlyArray<TrustedPath>) {
  const [first] = trustedSettings(config, paths).filter(
    ({ source }) => source !== "environment" && source !== "default"
  )
  if (first === undefined) return
  return yield* missing(
    "not-trusted",
    `${first.from} sets ${first.setting}, which this machine can trust only in a git repository.`,
    `Set ${environmentName(first.setting)} instead.`
  )
})

/** Fails if something is missing, or if one of these settings, or the server's, is not trusted here. */
export const servedProject = Effect.fn("servedProject")(function* (
  { nats }: Pick<ClientFlags, "nats">,
  service: ServiceName | undefined,
  paths: ReadonlyArray<TrustedPath>
) {
  const { isRepository, project } = yield* projectToServe(process.cwd(), service)
  const config = yield* loadConfig(project.root)
  const url = Option.getOrUndefined(nats) ?? config.settings.nats.url
  if (url === undefined) {
    return yield* wrongUse(
      "nats-missing",
      "A service needs a NATS server.",
      "Set --nats URL, REPRISE_NATS_URL or nats.url."
    )
  }
  const all = [...(Option.isSome(nats) ? credentialSettings : serverSettings), ...paths]
  yield* isRepository ? requireTrusted(project, config, all) : requireEnvironment(config, all)
  return { project, settings: config.settings, url }
})
