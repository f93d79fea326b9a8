import { createOwner } from '../domain/access/owner-identity.ts';
import type { XmlNode } from './xml-writer.ts';

/** The content of `<Owner>` and `<Initiator>`. */
export function ownerElement(workspaceUuid: string): XmlNode {
  const { id, displayName } = createOwner(workspaceUuid);
  return { ID: id, DisplayName: displayName };
}
