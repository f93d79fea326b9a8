/** Returns a function that loads a value at its first call and returns that to all further ones. A failed load is repeated. */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loaded: Promise<Value> | null = null;
  return () => {
    if (loaded !== null) return loaded;
    const loading = load();
    loaded = loading;
    loading.catch(() => {
      loaded = null; // the callers report it
    });
    return loading;
  };
}
