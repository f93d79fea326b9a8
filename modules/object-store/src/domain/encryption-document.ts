import { Type, type Static } from 'typebox';

/** The document `encryption`: the bucket's default for uploads that do not request encryption. */
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
  return JSON.parse(document) as EncryptionDocument; // validated by its schema before it was stored
}
