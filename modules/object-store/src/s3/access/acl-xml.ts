import { isAppError } from '@svc/errors';
import {
  PERMISSIONS,
  type AccessControlList,
  type Grant,
  type Permission,
} from '../../domain/access/access-control-list.ts';
import { storeErrors } from '../../errors.ts';
import { ownerElement } from '../owner-element.ts';
import { children, childText, parseXml, type XmlElement } from '../xml-reader.ts';
import type { XmlNode } from '../xml-writer.ts';
import { assertFew, uriOfGroup, type NamedGrant, type NamedGrantee } from './requested-acl.ts';

const INSTANCE = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

/** Renders the content of `<AccessControlPolicy>`. Group grants come first, the order that clients use. */
export function aclElement({ owner, grants }: AccessControlList): XmlNode {
  const [groups, people] = [grants.filter(isToGroup), grants.filter((grant) => !isToGroup(grant))];
  return { Owner: ownerElement(owner), AccessControlList: { Grant: [...groups, ...people].map(grantElement) } };
}

function isToGroup({ grantee }: Grant): boolean {
  return 'group' in grantee;
}

function grantElement({ grantee, permission }: Grant): XmlNode {
  const element: XmlNode =
    'group' in grantee
      ? { [`Grantee ${INSTANCE} xsi:type="Group"`]: { URI: uriOfGroup(grantee.group) } }
      : { [`Grantee ${INSTANCE} xsi:type="CanonicalUser"`]: ownerElement(grantee.workspaceUuid) };
  return { ...element, Permission: permission };
}

export interface AclDocument {
  ownerId: string;
  grants: readonly NamedGrant[];
}

/** Parses `<AccessControlPolicy>`. Throws `MalformedACLError` for any other document. */
export function parseAclDocument(document: string): AclDocument {
  try {
    const root = parseXml(document, 'AccessControlPolicy');
    const [owner] = children(root, 'Owner');
    const [list, ...others] = children(root, 'AccessControlList');
    const ownerId = owner === undefined ? undefined : childText(owner, 'ID')?.trim();
    if (ownerId === undefined || ownerId === '' || list === undefined || others.length > 0) throw malformed();
    return { ownerId, grants: assertFew(children(list, 'Grant').map(readGrant)) };
  } catch (error) {
    if (isAppError(error) && error.code === 'MalformedXML') throw storeErrors.MalformedACLError({ cause: error });
    throw error;
  }
}

function readGrant(grant: XmlElement): NamedGrant {
  const [grantee, ...others] = children(grant, 'Grantee');
  const permission = childText(grant, 'Permission')?.trim() ?? '';
  if (grantee === undefined || others.length > 0 || !isPermission(permission)) throw malformed();
  return { grantee: readGrantee(grantee), permission };
}

/** The type follows from the child that is present: an id, an e-mail address or a group URI. */
function readGrantee(grantee: XmlElement): NamedGrantee {
  const id = childText(grantee, 'ID')?.trim();
  const email = childText(grantee, 'EmailAddress')?.trim();
  const uri = childText(grantee, 'URI')?.trim();
  const given = [id, email, uri].filter((value) => value !== undefined && value !== '');
  if (given.length !== 1) throw malformed();
  if (id !== undefined && id !== '') return { id };
  return email !== undefined && email !== '' ? { email } : { uri: uri ?? '' };
}

function isPermission(text: string): text is Permission {
  return (PERMISSIONS as readonly string[]).includes(text); // widened for the lookup
}

function malformed(): Error {
  return storeErrors.MalformedACLError();
}
