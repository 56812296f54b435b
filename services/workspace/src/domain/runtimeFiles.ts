/**
 * What an agent runtime writes into a working tree by itself. OpenCode puts its schema's address into a configuration
 * file that names none, whenever it reads one: nobody's work, so it makes no tree dirty. Pure.
 */

/** Whether `path` is a configuration file of OpenCode's. */
export const isRuntimeConfig = (path: string): boolean => /(^|\/)opencode\.jsonc?$/.test(path)

/** What OpenCode makes of a configuration file without a schema. */
export const withSchemaAddress = (committed: string): string =>
  committed.replace(/^\s*\{/, '{\n  "$schema": "https://opencode.ai/config.json",')
