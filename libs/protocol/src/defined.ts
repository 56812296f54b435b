/** The fields that have a value, so that an optional one is absent and never `undefined`. */
export type Defined<Fields> = {
  readonly [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name]
} & {
  readonly [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>
}

/**
 * Leaves out what is undefined.
 *
 * @example
 * const view = { sessionId, ...defined({ model, phase }) }
 */
export const defined = <Fields extends object>(fields: Fields): Defined<Fields> =>
  // The entries that are left are those that the type names.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>
