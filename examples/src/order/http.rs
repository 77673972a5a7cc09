use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderName},
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::{get, post},
};
use resilience::rate_limiter::Scope;

use super::{Order, OrderRequest, OrderService, Product};
use crate::{
    access::{AccessGate, user_in_body},
    payment::{Callback, Payment},
    web::{
        ApiError, Body, Json, Path, SIGNATURE, Secret, health, optional_idempotency_key, signed,
    },
};

/// Says whose limit `POST /orders/global` has: `global` or `local`.
const SCOPE: HeaderName = HeaderName::from_static("x-limit-scope");

/// Routes `POST /orders`, `POST /orders/global`, `GET /orders/{id}`, `POST /orders/{id}/payment`,
/// `POST /payments/callback`, `GET /products`, `GET /products/{sku}`, `/livez` and `/readyz`.
///
/// Who orders and who pays again goes through the gate. Without a secret no callback is believed.
pub fn routes(service: OrderService, secret: Option<Secret>, gate: AccessGate) -> Router {
    let for_owner = from_fn_with_state((service.clone(), gate.clone()), owner);
    let for_asker = from_fn_with_state(gate, user_in_body);
    let health = health(service.clone(), async |service: OrderService| service.is_ready().await);
    let callback = Router::new()
        .route("/payments/callback", post(callback))
        .with_state((service.clone(), secret));
    Router::new()
        .route("/orders", post(place).route_layer(for_asker.clone()))
        .route("/orders/global", post(place_globally).route_layer(for_asker))
        .route("/orders/{id}", get(read))
        .route("/orders/{id}/payment", post(pay_again).route_layer(for_owner))
        .route("/products", get(products))
        .route("/products/{sku}", get(product))
        .with_state(service)
        .merge(callback)
        .merge(health)
}

/// Lets a request in if the user whose order it is may make it.
async fn owner(
    State((service, gate)): State<(OrderService, AccessGate)>,
    Path(id): Path<String>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let order = service.find(&id).await?.ok_or_else(|| unknown_order(&id))?;
    gate.admit(order.user(), request, next).await
}

async fn place(
    State(service): State<OrderService>,
    headers: HeaderMap,
    Json(request): Json<OrderRequest>,
) -> Result<Json<Order>, ApiError> {
    let key = optional_idempotency_key(&headers)?;
    Ok(Json(service.place(key, request).await?))
}

async fn place_globally(
    State(service): State<OrderService>,
    headers: HeaderMap,
    Json(request): Json<OrderRequest>,
) -> ([(HeaderName, &'static str); 1], Result<Json<Order>, ApiError>) {
    let place = async {
        let key = optional_idempotency_key(&headers)?;
        Ok(Json(service.place_globally(key, request).await?))
    };
    let scope = if service.scope() == Scope::Global { "global" } else { "local" };
    ([(SCOPE, scope)], place.await)
}

async fn read(
    State(service): State<OrderService>,
    Path(id): Path<String>,
) -> Result<Json<Order>, ApiError> {
    let order = service.find(&id).await?;
    order.map(Json).ok_or_else(|| unknown_order(&id))
}

fn unknown_order(id: &str) -> ApiError {
    ApiError::not_found(format!("order '{id}'"))
}

async fn pay_again(
    State(service): State<OrderService>,
    Path(id): Path<String>,
) -> Result<Json<Order>, ApiError> {
    Ok(Json(service.pay_again(&id).await?))
}

async fn callback(
    State((service, secret)): State<(OrderService, Option<Secret>)>,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<Json<Payment>, ApiError> {
    let Callback { reference, .. } = signed(secret.as_ref(), &headers, &body)?;
    let signature = headers.get(SIGNATURE).and_then(|header| header.to_str().ok());
    let signature = signature.ok_or_else(ApiError::unsigned)?;
    let payment = service.take(signature, body).await?;
    payment.map(Json).ok_or_else(|| ApiError::not_found(format!("payment '{reference}'")))
}

async fn products(State(service): State<OrderService>) -> Result<Json<Vec<Product>>, ApiError> {
    Ok(Json(service.products().await?))
}

async fn product(
    State(service): State<OrderService>,
    Path(sku): Path<String>,
) -> Result<Json<Product>, ApiError> {
    let product = service.product(&sku).await?;
    product.map(Json).ok_or_else(|| ApiError::not_found(format!("product '{sku}'")))
}
