use axum::{
    Router,
    extract::State,
    http::HeaderMap,
    routing::{get, post},
};

use super::{Order, OrderRequest, OrderService, Product};
use crate::web::{ApiError, Json, Path, health, optional_idempotency_key};

/// Routes `POST /orders`, `GET /orders/{id}`, `GET /products`, `GET /products/{sku}`, `/livez` and
/// `/readyz`.
pub fn routes(service: OrderService) -> Router {
    let health = health(service.clone(), async |service: OrderService| service.is_ready().await);
    Router::new()
        .route("/orders", post(place))
        .route("/orders/{id}", get(read))
        .route("/products", get(products))
        .route("/products/{sku}", get(product))
        .with_state(service)
        .merge(health)
}

async fn place(
    State(service): State<OrderService>,
    headers: HeaderMap,
    Json(request): Json<OrderRequest>,
) -> Result<Json<Order>, ApiError> {
    let key = optional_idempotency_key(&headers)?;
    Ok(Json(service.place(key, request).await?))
}

async fn read(
    State(service): State<OrderService>,
    Path(id): Path<String>,
) -> Result<Json<Order>, ApiError> {
    let order = service.find(&id).await?;
    order.map(Json).ok_or_else(|| ApiError::not_found(format!("order '{id}'")))
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
