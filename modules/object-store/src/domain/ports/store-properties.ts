/** Commands on properties of the whole store. Each is one transaction. */
export interface StorePropertyCommands {
  setStoreProperty(input: { name: string; value: string }): Promise<void>;
  /** Sets the property unless it is set. Returns its value from now on. */
  claimStoreProperty(input: { name: string; value: string }): Promise<string>;
}

/** Queries of properties of the whole store. */
export interface StorePropertyQueries {
  storeProperty(input: { name: string }): Promise<string | null>;
}
