/**
 * The fields of the structs in a file of Kubernetes's API, of which its published schema is made. A field is required there
 * when it is marked so, or is neither marked as optional nor left out of JSON when it is empty. Pure.
 */

export interface Field {
  /** In a manifest; empty: the fields of the struct stand beside the others. */
  readonly name: string
  readonly isRequired: boolean
  readonly shape: "pointer" | "value" | "list" | "table"
  /** What it holds, such as `core/v1.PodSpec`; undefined: no struct of the API. */
  readonly struct: string | undefined
}

export type Struct = ReadonlyArray<Field>

/** By its folder and name: `core/v1.PodSpec`. */
export type StructOf = (name: string) => Struct | undefined

const shapeOf = (type: string): Field["shape"] => {
  if (type.startsWith("*")) return "pointer"
  if (type.startsWith("[]")) return "list"
  return type.startsWith("map[") ? "table" : "value"
}

/** The names that a file has for other folders of the API. */
const importsIn = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/^\t(\w+) "k8s\.io\/api\/([^"]+)"$/gm)].map(([, name = "", folder = ""]) => [name, folder]))

const isRequired = (comment: string, options: string): boolean => {
  if (/^\t\/\/ \+(k8s:)?required\b/m.test(comment)) return true
  return !(/^\t\/\/ \+(k8s:)?optional\b/m.test(comment) || /,omit(empty|zero)\b/.test(options))
}

const fieldPattern = /((?:^\t\/\/.*\n)*)^\t(?:\w+[ \t]+)?(\S+)[ \t]+`json:"([^",]*)([^"]*)"/gm

/** `folder` is that of the file: `core/v1`. */
export const structsIn = (text: string, folder: string): ReadonlyMap<string, Struct> => {
  const imports = importsIn(text)
  const structOf = (type: string): string | undefined => {
    const [, from, name] = /^(?:\*|\[\]|map\[\w+\])*(?:(\w+)\.)?([A-Z]\w*)$/.exec(type) ?? []
    const home = from === undefined ? folder : imports.get(from)
    return name === undefined || home === undefined ? undefined : `${home}.${name}`
  }
  const fieldsIn = (body: string): Struct =>
    [...body.matchAll(fieldPattern)].map(([, comment = "", type = "", name = "", options = ""]) => ({
      name,
      isRequired: name !== "" && isRequired(comment, options),
      shape: shapeOf(type),
      struct: structOf(type)
    }))
  return new Map(
    [...text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)].map(([, name = "", body = ""]) => [
      `${folder}.${name}`,
      fieldsIn(body)
    ])
  )
}
