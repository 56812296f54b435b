/** Layers of settings for tests. */
import { Result } from "effect"
import type { Layer, Source } from "../../src/config/layers.ts"
import { resolve } from "../../src/config/resolveConfig.ts"
import type { SettingPath } from "../../src/config/settingsTable.ts"

export type Values = { readonly [Path in SettingPath]?: unknown }

export const layerOf = (values: Values, source: Source = "reprise.toml"): Layer => ({
  source,
  values: new Map(Object.entries(values) as ReadonlyArray<[SettingPath, unknown]>)
})

/** Fails the test if the layers are invalid. */
export const configOf = (...layers: ReadonlyArray<Layer>) => Result.getOrThrow(resolve(layers))
