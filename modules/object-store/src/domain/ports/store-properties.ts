/** Commands on properties of the whole store. Each is one transaction. */
export interface StorePropertyCommands {
  setStoreProperty(input: { name: string; value: string }): Promise<void>;
}

/** Queries of properties of the whole store. */
export interface StorePropertyQueries {
  storeProperty(input: { name: string }): Promise<string | null>;
}
