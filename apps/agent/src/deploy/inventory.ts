import { createHash } from 'node:crypto';
import { fieldAt, identityOf, isRecord, type KubeClient, type KubeObject, type ObjectReference } from '@svc/kube';
import { agentErrors } from '../errors.ts';

export interface InventoryEntry extends ObjectReference {
  /** Known once applied: only this very object may be deleted. */
  uid?: string;
}

export interface Inventory {
  entries: readonly InventoryEntry[];
  /** Ids of the last deploys, newest last: an id listed here has already run, even if the journal was lost. */
  commandIds: readonly string[];
  revision?: string;
}

export interface InventoryStore {
  read(signal: AbortSignal): Promise<Inventory>;
  write(inventory: Inventory, signal: AbortSignal): Promise<void>;
}

export interface InventoryPlace {
  client: KubeClient;
  namespace: string;
  projectId: string;
  keyPrefix: string;
  fieldManager: string;
}

const REMEMBERED_COMMANDS = 20;

/**
 * The objects of one project in one namespace, stored in a ConfigMap there: deleted with the namespace, and independent
 * of the agent.
 */
export function inventoryStore(place: InventoryPlace): InventoryStore {
  const { client, namespace, projectId, keyPrefix, fieldManager } = place;
  const reference: ObjectReference = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: inventoryName(projectId) };
  return {
    read: async (signal) => {
      const object = await client.get(reference, signal);
      return object === null ? { entries: [], commandIds: [] } : parseInventory(object);
    },
    write: async (inventory, signal) => {
      const object: KubeObject = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: reference.name,
          namespace,
          labels: { [`${keyPrefix}/project`]: projectId, [`${keyPrefix}/inventory`]: 'true' },
        },
        data: {
          'inventory.json': JSON.stringify(inventory.entries),
          'commands.json': JSON.stringify(inventory.commandIds.slice(-REMEMBERED_COMMANDS)),
          ...(inventory.revision === undefined ? {} : { revision: inventory.revision }),
        },
      };
      await client.apply(object, { fieldManager, force: true, signal });
    },
  };
}

/** Project ids may contain characters that object names may not; the hash keeps similar ids apart. */
export function inventoryName(projectId: string): string {
  const readable = projectId
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|(?<!-)-+$/g, '');
  const hash = createHash('sha256').update(projectId).digest('hex').slice(0, 10);
  return `svc-inventory-${readable === '' ? 'project' : readable}-${hash}`;
}

/** Old and new entries together: written before anything is applied, so that a crash cannot orphan an object. */
export function mergeEntries(old: readonly InventoryEntry[], wanted: readonly InventoryEntry[]): InventoryEntry[] {
  const union = new Map(old.map((entry) => [identityOf(entry), entry]));
  for (const entry of wanted) {
    const known = union.get(identityOf(entry));
    union.set(identityOf(entry), { ...entry, ...(known?.uid === undefined ? {} : { uid: known.uid }) });
  }
  return [...union.values()];
}

/** Entries that are no longer wanted. */
export function withoutThese(old: readonly InventoryEntry[], wanted: readonly ObjectReference[]): InventoryEntry[] {
  const kept = new Set(wanted.map(identityOf));
  return old.filter((entry) => !kept.has(identityOf(entry)));
}

function parseInventory(object: KubeObject): Inventory {
  const revision = fieldAt(object, 'data', 'revision');
  return {
    entries: parseList(fieldAt(object, 'data', 'inventory.json')).map(parseEntry),
    commandIds: parseList(fieldAt(object, 'data', 'commands.json')).map(String),
    ...(typeof revision === 'string' ? { revision } : {}),
  };
}

function parseList(text: unknown): unknown[] {
  try {
    const value: unknown = JSON.parse(typeof text === 'string' ? text : '[]');
    if (Array.isArray(value)) return value;
  } catch {
    // the content was edited; reported below, because a guess here could delete unrelated objects
  }
  throw agentErrors.CONFLICT({ details: { field: 'inventory', reason: 'the inventory of the project is damaged' } });
}

function parseEntry(value: unknown): InventoryEntry {
  const text = (name: string): string | undefined => {
    const field = isRecord(value) ? value[name] : undefined;
    return typeof field === 'string' ? field : undefined;
  };
  const [apiVersion, kind, name] = [text('apiVersion'), text('kind'), text('name')];
  if (apiVersion === undefined || kind === undefined || name === undefined) {
    throw agentErrors.CONFLICT({ details: { field: 'inventory', reason: 'the inventory of the project is damaged' } });
  }
  const namespace = text('namespace');
  const uid = text('uid');
  return {
    apiVersion,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}
