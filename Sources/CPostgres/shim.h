#pragma once
// Only the declarations: the library is loaded when a history is first kept in PostgreSQL. Linked, it would bring
// LDAP and Kerberos along, and every start of the command would take twice as long.
#include <postgresql/libpq-fe.h>

/// The calls that are used, each with the type that the header gives it.
typedef struct {
  __typeof__(PQconninfoParse) *conninfoParse;
  __typeof__(PQconninfoFree) *conninfoFree;
  __typeof__(PQfreemem) *freemem;
  __typeof__(PQconnectdbParams) *connectdbParams;
  __typeof__(PQfinish) *finish;
  __typeof__(PQstatus) *status;
  __typeof__(PQerrorMessage) *errorMessage;
  __typeof__(PQsetNoticeReceiver) *setNoticeReceiver;
  __typeof__(PQsendPrepare) *sendPrepare;
  __typeof__(PQsendQueryPrepared) *sendQueryPrepared;
  __typeof__(PQsendQuery) *sendQuery;
  __typeof__(PQsetnonblocking) *setNonblocking;
  __typeof__(PQflush) *flush;
  __typeof__(PQconsumeInput) *consumeInput;
  __typeof__(PQisBusy) *isBusy;
  __typeof__(PQgetResult) *getResult;
  __typeof__(PQsocket) *socket;
  __typeof__(PQresultStatus) *resultStatus;
  __typeof__(PQresultErrorField) *resultErrorField;
  __typeof__(PQntuples) *ntuples;
  __typeof__(PQnfields) *nfields;
  __typeof__(PQftype) *ftype;
  __typeof__(PQgetisnull) *getisnull;
  __typeof__(PQgetlength) *getlength;
  __typeof__(PQgetvalue) *getvalue;
  __typeof__(PQclear) *clear;
} PostgresCalls;
