/* Made by scripts/generate-types.ts from api/openapi.json; `./svc openapi` writes it anew. */

export interface ObjectStoreOperations {
  /** Status, limits and usage of the workspace’s object store */
  'GET /': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** List buckets */
  'GET /buckets': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Create a bucket; the first one provisions the object store of the workspace */
  'POST /buckets': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      /** Made to fit `[a-z0-9-]`; the answer has the final name. */
      "name": string;
      "encryption_mode"?: undefined | "none" | "sse-s3";
      "location_hint"?: undefined | string | null;
    };
    answer: undefined;
  };
  /** List deleted buckets that can be restored */
  'GET /buckets/deleted': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Delete a bucket; it can be restored until its purge */
  'DELETE /buckets/{name}': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Restore a deleted bucket */
  'POST /buckets/{name}/restore': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** List access keys, without secrets */
  'GET /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: undefined;
    answer: undefined;
  };
  /** Create an access key; its secret is in this answer and never again */
  'POST /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "label"?: undefined | string;
      "permissions"?: undefined | ("read" | "write" | "admin")[];
      "buckets"?: undefined | (string)[];
      "expires_at"?: undefined | string | null;
    } | null;
    answer: undefined;
  };
  /** Revoke an access key */
  'DELETE /keys': {
    query: {
      "team_uuid"?: undefined | string;
    };
    body: {
      "accessKeyId": string;
    };
    answer: undefined;
  };
}
