// The document's named objects and their dependencies.
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { type ObjectType, objectType, type Registry, type Shape } from "./shape.ts";

/** Reads a component when it is first used. */
export class TypeBook implements Registry {
  readonly all = new Map<string, ObjectType>();
  readonly schemas: Members;
  readonly #begun = new Set<string>();

  constructor(schemas: Members) {
    this.schemas = schemas;
  }

  component(name: string): void {
    if (this.#begun.has(name)) return;
    this.#begun.add(name);
    this.add(objectType(name, membersOf(this.schemas[name]), this));
  }

  add(type: ObjectType): void {
    const known = this.all.get(type.name);
    if (known && JSON.stringify(known) !== JSON.stringify(type))
      throw new Error(`two types have the name ${type.name}`);
    this.all.set(type.name, type);
  }

  /** These types and all types that their fields use. */
  reachedFrom(names: readonly string[]): Set<string> {
    const reached = new Set<string>();
    const queue = [...names];
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      const type = this.all.get(name);
      if (reached.has(name) || !type) continue; // visits each type once, so the loop ends
      reached.add(name);
      queue.push(...type.fields.flatMap((field) => namesIn(field.shape)));
    }
    return reached;
  }

  /** The type after its dependencies, without those in `owned`, to which all are added. */
  withInner(name: string, owned: Set<string>): ObjectType[] {
    const type = this.all.get(name);
    if (!type || owned.has(name)) return [];
    owned.add(name); // before its fields, for recursive types
    const inner = type.fields.flatMap((field) => namesIn(field.shape)).flatMap((each) => this.withInner(each, owned));
    return [...inner, type];
  }
}

/** Named types in the shape. */
export function namesIn(shape: Shape): string[] {
  if (shape.kind === "named") return [shape.name];
  if (shape.kind === "list") return namesIn(shape.items);
  return shape.kind === "map" ? namesIn(shape.values) : [];
}
