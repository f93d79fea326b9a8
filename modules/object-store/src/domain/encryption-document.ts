import { Type, type Static } from 'typebox';

/** The bucket's default encryption, for uploads that do not ask for one: the document `encryption`. */
export const encryptionDocumentSchema = Type.Object(
  {
    algorithm: Type.Union([Type.Literal('AES256'), Type.Literal('aws:kms')]),
    key_id: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
    bucket_key_enabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export type EncryptionDocument = Static<typeof encryptionDocumentSchema>;

export function parseEncryptionDocument(document: string): EncryptionDocument {
  return JSON.parse(document) as EncryptionDocument; // checked by its schema before it was kept
}
